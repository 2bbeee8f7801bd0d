/** The state machine with the way that one payment took: solid where it went, accented where it is, outlined where it may go. */
import { type Html, html } from '@tollgate/service-kit';
import { texts } from '../texts.ts';
import { type MachineEdge, type Place, layOutMachine } from './machine-layout.ts';
import { durationText } from './time.ts';
import { type HistoryEvent, type Step, type Way, wayOf } from './way.ts';

const machine = layOutMachine();

export function statePicture(events: readonly HistoryEvent[]): Html {
  const way = wayOf(events, machine.edges);
  const { width, height } = machine;
  const arrow = (kind: string) =>
    html`<marker
      id="arrow-${kind}"
      viewBox="0 0 8 8"
      refX="7"
      refY="4"
      markerWidth="7"
      markerHeight="7"
      orient="auto-start-reverse"
      ><path d="M0 .5L7.5 4 0 7.5z" class="head ${kind}"
    /></marker>`;
  return html`<svg
    class="machine"
    viewBox="0 0 ${width} ${height}"
    width="${width}"
    height="${height}"
    role="img"
    aria-label="${spoken(way)}"
  >
    <defs>${arrow('taken')}${arrow('possible')}</defs>
    ${machine.frames.map((frame) => drawFrame(frame, way))}
    <text class="lane" x="14" y="${machine.refundTop + 20}">${texts.operations['refund']}</text>
    ${edgesNow(way).map((edge) => drawPossible(edge))} ${grouped(way.steps).map((steps) => drawTaken(steps))}
    ${machine.places
      .values()
      .map((place) => drawPlace(place, way))
      .toArray()}
  </svg>`;
}

/** For who does not see it. */
const spoken = ({ steps, now }: Way): string => {
  const [lifecycle = ''] = now;
  const way = steps.map(({ to }) => nameOf(to)).join(', ');
  return `${texts.payment.picture}: ${way === '' ? '' : `${way}. `}${nameOf(lifecycle)}`;
};

/** Between two states once, whatever leads there. */
const edgesNow = ({ next }: Way): MachineEdge[] => [
  ...new Map(next.map((edge) => [`${edge.from} ${edge.to}`, edge])).values(),
];

const grouped = (steps: readonly Step[]): Step[][] => [
  ...Map.groupBy(steps, ({ from, to }) => `${from} ${to}`).values(),
];

const nameOf = (id: string): string => id.split('.').at(-1) ?? id;

function kindOf(id: string, { now, visited, ahead }: Way): string {
  // Nothing is under way there.
  if (id === 'refund.idle' && visited.has('refund.announced')) return 'visited';
  if (id === 'refund.idle') return ahead.has('refund.announced') ? 'possible' : 'impossible';
  if (now.has(id)) return 'now';
  if (visited.has(id)) return 'visited';
  return ahead.has(id) ? 'possible' : 'impossible';
}

function drawPlace({ id, x, y, width, height }: Place, way: Way): Html {
  const kind = kindOf(id, way);
  return html`<g class="place ${kind}">
    <rect x="${x}" y="${y}" width="${width}" height="${height}" rx="${height / 2}" />
    <text x="${x + width / 2}" y="${y + height / 2 + 4}" text-anchor="middle">${nameOf(id)}</text>
  </g>`;
}

function drawFrame({ id, label, x, y, width, height }: Place & { label: string }, way: Way): Html {
  const kinds = [...machine.places.keys()]
    .filter((each) => each.startsWith(`${id}.`))
    .map((each) => kindOf(each, way));
  const kind = ['now', 'visited', 'possible'].find((each) => kinds.includes(each)) ?? 'impossible';
  return html`<g class="frame ${kind}">
    <rect x="${x}" y="${y}" width="${width}" height="${height}" rx="10" />
    <text x="${x + 10}" y="${y + 15}">${label}</text>
  </g>`;
}

function drawPossible({ from, to, event }: MachineEdge): Html | undefined {
  const curve = curveOf(from, to);
  return (
    curve &&
    html`<path class="edge possible" d="${curve.d}" marker-end="url(#arrow-possible)"
      ><title>${event}</title></path
    >`
  );
}

function drawTaken(steps: readonly Step[]): Html | undefined {
  const [first] = steps;
  const curve = first && curveOf(first.from, first.to);
  if (curve === undefined) return undefined;
  const hint = steps
    .map(({ event, at, spentMs }) => `${event}, ${at}, after ${durationText(spentMs)}`)
    .join('\n');
  const spent = durationText(steps.at(-1)?.spentMs ?? 0);
  const label = steps.length > 1 ? `${steps.length}× ${spent}` : spent;
  return html`<g class="step">
    <path class="edge taken" d="${curve.d}" marker-end="url(#arrow-taken)" />
    <path class="grip" d="${curve.d}"><title>${hint}</title></path>
    <text class="spent" x="${curve.labelX}" y="${curve.labelY}" text-anchor="middle">${label}</text>
  </g>`;
}

interface Curve {
  d: string;
  labelX: number;
  labelY: number;
}

function curveOf(from: string, to: string): Curve | undefined {
  const [begin, end] = [machine.places.get(from), machine.places.get(to)];
  if (begin === undefined || end === undefined) return undefined;
  if (end.y - begin.y > 60) return curveDown(outlineOf(from, begin), end);
  if (begin.y - end.y > 60) return lineUp(begin, outlineOf(to, end));
  if (Math.abs(begin.x - end.x) < 30) return lineWithin(begin, end);
  const isNext = end.x > begin.x && end.x - begin.x < 200;
  return isNext ? lineAlong(begin, end) : curveOver(outlineOf(from, begin), outlineOf(to, end));
}

/** What leads out of a call leaves it at its frame. */
const outlineOf = (id: string, place: Place): Place =>
  machine.frames.find((frame) => id.startsWith(`${frame.id}.`)) ?? place;

const middleOf = ({ x, width }: Place): number => x + width / 2;

/** From the row of what leads on to the row of what is final. */
function curveDown(upper: Place, lower: Place): Curve {
  const [x1, y1] = [middleOf(upper), upper.y + upper.height];
  const [x2, y2] = [middleOf(lower), lower.y - 1];
  const bend = (y2 - y1) / 2;
  return {
    d: `M${x1} ${y1}C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}`,
    labelX: (x1 + x2) / 2,
    labelY: (y1 + y2) / 2 + 4,
  };
}

function lineUp(lower: Place, upper: Place): Curve {
  const [x1, y1, x2, y2] = [middleOf(lower), lower.y, middleOf(upper), upper.y + upper.height + 1];
  return { d: `M${x1} ${y1}L${x2} ${y2}`, labelX: (x1 + x2) / 2, labelY: (y1 + y2) / 2 + 4 };
}

/** Between two states of one call, one above the other. */
function lineWithin(begin: Place, end: Place): Curve {
  const x = begin.x + begin.width - 14;
  const [y1, y2] = begin.y < end.y ? [begin.y + begin.height, end.y - 1] : [begin.y, end.y + end.height + 1];
  return { d: `M${x} ${y1}L${x} ${y2}`, labelX: begin.x + begin.width + 28, labelY: (y1 + y2) / 2 + 4 };
}

/** To the next one in the row. */
function lineAlong(begin: Place, end: Place): Curve {
  const [x1, x2] = [begin.x + begin.width, end.x - 1];
  const [y1, y2] = [begin.y + begin.height / 2, end.y + end.height / 2];
  const bend = (x2 - x1) / 2;
  return {
    d: `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`,
    labelX: (x1 + x2) / 2,
    labelY: Math.min(y1, y2) - 7,
  };
}

/** Over what stands between, and back. */
function curveOver(begin: Place, end: Place): Curve {
  const [x1, y1, x2, y2] = [middleOf(begin), begin.y, middleOf(end), end.y - 1];
  const top = Math.min(y1, y2) - 32;
  return {
    d: `M${x1} ${y1}C${x1} ${top} ${x2} ${top} ${x2} ${y2}`,
    labelX: (x1 + x2) / 2,
    labelY: top + 12,
  };
}
