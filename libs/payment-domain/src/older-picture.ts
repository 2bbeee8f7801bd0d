/** What the service shows of something that has changed a moment ago may be a picture from before. */

/** How long the service may show it as it was before its last change, milliseconds. */
const olderMs = 30 * 60 * 1000;

/** When an inquiry began, and when the latest event of what it is about was recorded, both milliseconds since the Unix epoch. */
export interface Taken {
  inquiredAt: number;
  changedAt: number;
}

export const mayBeOlder = ({ inquiredAt, changedAt }: Taken): boolean => inquiredAt < changedAt + olderMs;
