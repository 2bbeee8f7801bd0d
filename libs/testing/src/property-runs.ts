/**
 * How many runs a property test makes: a tenth in `npm test`, all of them at night.
 *
 * `PROPERTY_RUNS_FACTOR` is the share of `atNight`, 1 in the nightly runs. @default 0.1
 */
const factor = Number(process.env['PROPERTY_RUNS_FACTOR'] ?? 0.1);

/** Fewer runs find too little to justify their start. */
const runsMin = 10;

export const propertyRuns = (atNight: number): number =>
  Math.min(atNight, Math.max(runsMin, Math.round(atNight * factor)));

/** In every other run, combined inputs take turns instead. */
export const isWholeRun = factor >= 1;
