/**
 * The embedded store accepts no stream whose name starts with `$`; the protocol has such streams, for example those of
 * metadata. They are stored under names that start with `!`.
 */
export const toStoredStream = (name: string): string => (/^[$!]/.test(name) ? `!${name}` : name);

export const fromStoredStream = (stored: string): string =>
  stored.startsWith('!') ? stored.slice(1) : stored;

const metadataPrefix = '$$';

/** The stream whose metadata a stream holds; undefined if it holds none. */
export const ownerOfMetadata = (name: string): string | undefined =>
  name.startsWith(metadataPrefix) ? name.slice(metadataPrefix.length) : undefined;
