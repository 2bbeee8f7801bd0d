/**
 * The embedded store takes no stream whose name starts with `$`; the protocol has such streams, those of metadata for
 * instance. They are kept under names that start with `!`.
 */
export const toStoredStream = (name: string): string => (/^[$!]/.test(name) ? `!${name}` : name);

export const fromStoredStream = (stored: string): string =>
  stored.startsWith('!') ? stored.slice(1) : stored;

const metadataPrefix = '$$';

/** The stream whose metadata a stream holds; undefined where it holds none. */
export const ownerOfMetadata = (name: string): string | undefined =>
  name.startsWith(metadataPrefix) ? name.slice(metadataPrefix.length) : undefined;
