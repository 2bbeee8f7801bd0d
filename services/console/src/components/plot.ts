/** Values over time with a scale, hours below, and a tooltip for each step. Works without script. */
import { type Html, html } from '@tollgate/service-kit';

export interface Plot {
  /** Start of each hour, ISO 8601, oldest first; the last hour is incomplete. */
  steps: readonly string[];
  lines: readonly {
    name: string;
    /** Undefined if nothing happened in the step. */
    values: readonly (number | undefined)[];
  }[];
  /** For example `12 ms`. */
  format: (value: number) => string;
  /** Top of the scale. @default the greatest value, rounded up */
  top?: number;
  description: string;
}

const size = { width: 480, height: 100 };

export function plot({ steps, lines, format, top, description }: Plot): Html {
  const values = lines.flatMap((line) => line.values).filter((value) => value !== undefined);
  const most = top ?? roundedUp(Math.max(2, ...values));
  const width = size.width / Math.max(1, steps.length);
  const y = (value: number): number => size.height - (value / most) * size.height;
  const drawn = lines.map(({ values: of }, place) => {
    const path = pathOf(of, (value, step) => `${short((step + 0.5) * width)} ${short(y(value))}`);
    return html`<path class="line line-${place}" d="${path}" />`;
  });
  const columns = steps.map((step, place) => {
    const said = lines.map(({ name, values: of }) => {
      const value = of[place];
      return `${name}: ${value === undefined ? '–' : format(value)}`;
    });
    const label = `${step.slice(0, 10)} ${step.slice(11, 16)} UTC, ${said.join(', ')}`;
    return html`<g class="step"
      ><title>${label}</title
      ><rect x="${short(place * width)}" y="0" width="${short(width)}" height="${size.height}"
    /></g>`;
  });
  const marks = [steps[0], steps[Math.floor(steps.length / 2)], steps.at(-1)].map(
    (step = '') => html`<span>${step.slice(11, 16)}</span>`,
  );
  const names =
    lines.length < 2
      ? undefined
      : html`<p class="names">
          ${lines.map(({ name }, place) => html`<span class="name-${place}">${name}</span> `)}
        </p>`;
  return html`<div class="plot">
    <div class="scale" aria-hidden="true">
      <span>${format(most)}</span><span>${format(most / 2)}</span><span>${format(0)}</span>
    </div>
    <svg
      viewBox="0 0 ${size.width} ${size.height}"
      preserveAspectRatio="none"
      role="img"
      aria-label="${description}"
    >
      <path
        class="grid"
        d="M0 .5H${size.width}M0 ${size.height / 2}H${size.width}M0 ${size.height - 0.5}H${size.width}"
      />
      ${drawn}${columns}
    </svg>
    <div class="marks" aria-hidden="true">${marks}<small>UTC</small></div>
    ${names}
  </div>`;
}

/** A step without a value interrupts the line; one between two gaps is a dash. */
function pathOf(
  values: readonly (number | undefined)[],
  placeOf: (value: number, step: number) => string,
): string {
  return values
    .map((value, step) => {
      if (value === undefined) return '';
      const isFirst = values[step - 1] === undefined;
      const isAlone = isFirst && values[step + 1] === undefined;
      return `${isFirst ? 'M' : 'L'}${placeOf(value, step)}${isAlone ? 'm-4 0h8' : ''}`;
    })
    .join('');
}

const short = (length: number): string => String(Number(length.toFixed(1)));

/** Rounds up to 1, 2 or 4 times a power of ten, so that half of it is a whole number too. */
export function roundedUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 4, 10].find((factor) => factor * power >= value) ?? 10) * power;
}

interface Decided {
  approved: number;
  declined: number;
}

export const percent = (share: number): string => `${Number(share.toFixed(1))} %`;

/** In percent; undefined if nothing was decided. */
export const rateOf = ({ approved, declined }: Decided): number | undefined =>
  approved + declined === 0 ? undefined : (100 * approved) / (approved + declined);

export function rateText(approved: number, declined: number): string {
  const rate = rateOf({ approved, declined });
  return rate === undefined ? '–' : percent(rate);
}
