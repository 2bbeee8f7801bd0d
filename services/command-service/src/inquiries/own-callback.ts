/**
 * Whether what the provider shows calls back to the address that we gave it for this payment. Base addresses move and
 * secrets rotate: it is ours where either is as now. Undefined where no address shows, or one that cannot be read.
 *
 * @param own the address that we would give it now, whose last segment is the capability
 */
export function isOwnCallback(own: string, shown: string | undefined): boolean | undefined {
  const [address, theirs] = [URL.parse(own), URL.parse(shown ?? '')];
  if (address === null || theirs === null) return undefined;
  const [ours, other] = [partsOf(address), partsOf(theirs)];
  return ours.base === other.base || ours.capability === other.capability;
}

function partsOf({ origin, pathname }: URL): { base: string; capability: string } {
  const end = pathname.lastIndexOf('/');
  return { base: `${origin}${pathname.slice(0, end)}`, capability: pathname.slice(end) };
}
