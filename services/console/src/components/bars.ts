/** Small columns over time: the last one is under way, and drawn lighter. */
import { type Html, html } from '@tollgate/service-kit';

const size = { width: 240, height: 44 };

export function bars(
  values: readonly { label: string; value: number; part?: number }[],
  description: string,
): Html {
  const most = Math.max(1, ...values.map(({ value }) => value));
  const step = size.width / Math.max(1, values.length);
  const columns = values.map(({ label, value, part }, place) => {
    const heightOf = (count: number) => (count === 0 ? 0 : Math.max(1.5, (count / most) * (size.height - 2)));
    const column = (count: number, kind: string) => {
      const height = Number(heightOf(count).toFixed(1));
      return html`<rect
        class="${kind}"
        x="${(place * step + 1).toFixed(1)}"
        y="${(size.height - height).toFixed(1)}"
        width="${(step - 2).toFixed(1)}"
        height="${height}"
      />`;
    };
    const isLast = place === values.length - 1;
    return html`<g class="${isLast ? 'under-way' : ''}">
      <title>${label}</title>
      ${column(value, 'whole')}${part === undefined ? undefined : column(part, 'part')}
    </g>`;
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
