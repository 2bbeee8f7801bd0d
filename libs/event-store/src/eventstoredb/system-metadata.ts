/**
 * Metadata that EventStoreDB itself understands: its projection `$by_correlation_id` groups by `$correlationId`, and its
 * browser shows the causes. Ours stays unchanged; these are added to it, and reads omit them.
 */

/** An id of our form; a longer one is not added, so that the size of an append is known beforehand. */
const idOf = (name: string) => new RegExp(`"${name}":"([\\w-]{1,36})"`);
const [correlationId, causationId] = [idOf('correlationId'), idOf('causationId')];

/** Signatures and chain links cover the metadata as read: releases that do not know these additions would report tampering. */
const isSealed = (metadata: string): boolean => /"(?:signature|link)":/.test(metadata);

/** @param metadata JSON text */
export function withSystemMetadata(metadata: string): string {
  const noted = [
    ['$correlationId', correlationId.exec(metadata)?.[1]],
    ['$causationId', causationId.exec(metadata)?.[1]],
  ].flatMap(([name, id]) => (id === undefined ? [] : [`"${name}":"${id}"`]));
  if (noted.length === 0 || !metadata.startsWith('{') || isSealed(metadata)) return metadata;
  return `{${noted.join(',')},${metadata.slice(1)}`;
}

export function withoutSystemMetadata(metadata: unknown): unknown {
  if (
    typeof metadata !== 'object' ||
    metadata === null ||
    !('$correlationId' in metadata || '$causationId' in metadata)
  )
    return metadata;
  const { $correlationId: _, $causationId: __, ...own } = metadata as Record<string, unknown>;
  return own;
}
