/** The streams of views in the store. */

/** The number of a view version, from 1. */
export type ViewVersion = number;
export const firstViewVersion: ViewVersion = 1;

/** Of all streams of a view version, its checkpoints included. */
export const viewPrefixOf = (viewVersion: ViewVersion): string =>
  viewVersion === firstViewVersion ? 'view_' : `view${viewVersion}_`;

/** The stream of the view that is folded from `stream`; only its last event is kept. */
export const viewStreamOf = (stream: string, viewVersion: ViewVersion = firstViewVersion): string =>
  `${viewPrefixOf(viewVersion)}${stream}`;
