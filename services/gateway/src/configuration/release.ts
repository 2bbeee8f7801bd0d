import gateway from '../../package.json' with { type: 'json' };

/** The release that this is. */
export const release: string = gateway.version;
