/**
 * What EventStoreDB itself understands of metadata: by `$correlationId` its projection `$by_correlation_id` gathers what
 * belongs together, and its browser shows the causes. Ours stays as it is; these stand next to it, and reads leave them out.
 */

/** An id as ours are; what is longer is not noted, so that the size of an append is known beforehand. */
const idOf = (name: string) => new RegExp(`"${name}":"([\\w-]{1,36})"`);
const [correlationId, causationId] = [idOf('correlationId'), idOf('causationId')];

/**
 * What is signed, or a link of a chain, is checked over its metadata as they are read: releases that do not know these notes
 * would take it for changed.
 */
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
