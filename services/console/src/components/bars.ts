/** Small columns over time: the last one is under way, and drawn lighter. */
import { type Html, html } from '@tollgate/service-kit';

const size = { width: 240, height: 44 };

export function bars(
  values: readonly { label: string; value: number; part?: number }[],
  description: string,
): Html {
  const most = Math.max(1, ...values.map(({ value }) => value));
  const step = size.width / Math.max(1, values.length);
  const columns = values.map(({ label, value, part = 0 }, place) => {
    const column = (count: number, kind: string) => {
      if (count === 0) return undefined;
      const height = Math.max(1.5, (count / most) * (size.height - 2));
      const [left, width] = [place * step + 1, step - 2];
      const outline = `M${short(left)} ${size.height}v${short(-height)}h${short(width)}v${short(height)}z`;
      return html`<path class="${kind}" d="${outline}" />`;
    };
    // What is nothing has no column: an hour of minutes in which nothing happens is most of the page else.
    if (value === 0) return undefined;
    const isLast = place === values.length - 1 ? html` class="under-way"` : undefined;
    return html`<g${isLast}><title>${label}</title>${column(value, 'whole')}${column(part, 'part')}</g>`;
  });
  return html`<svg
    class="bars"
    viewBox="0 0 ${size.width} ${size.height}"
    preserveAspectRatio="none"
    role="img"
    aria-label="${description}"
  >
    <path class="ground" d="M0 ${size.height - 0.5}H${size.width}" />
    ${columns}
  </svg>`;
}

const short = (length: number): string => String(Number(length.toFixed(1)));
