/**
 * The state machine with one payment's path: past transitions solid, the current state accented, possible next states
 * outlined.
 */
import { type Html, html } from '@tollgate/service-kit';
import { texts } from '../texts.ts';
import { type MachineEdge, type Place, finalsLeft, layOutMachine } from './machine-layout.ts';
import { phaseName } from './state.ts';
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
    <text class="lane" x="16" y="${machine.refundMiddle + 4}">Refund</text>
    ${edgesNow(way).map((edge) => drawPossible(edge))}
    ${[...Map.groupBy(way.steps, ({ from, to }) => `${from} ${to}`).values()].map((steps) => drawTaken(steps))}
    ${machine.places
      .values()
      .map((place) => drawPlace(place, way))
      .toArray()}
  </svg>`;
}

/** For screen readers. */
const spoken = ({ steps, now }: Way): string => {
  const [lifecycle = ''] = now;
  const way = steps.map(({ to }) => nameOf(to)).join(', ');
  return `States: ${way === '' ? '' : `${way}. `}${nameOf(lifecycle)}`;
};

/** Merges all edges between the same two states. */
const edgesNow = ({ next }: Way): MachineEdge[] => [
  ...new Map(next.map((edge) => [`${edge.from} ${edge.to}`, edge])).values(),
];

/** Labels of the chips. */
function nameOf(id: string): string {
  const [outer = '', inner = ''] = id.split('.', 2);
  if (outer === 'refund') return texts.refundPhases[inner === 'announced' ? 'submitted' : inner] ?? inner;
  if (inner === 'unresolved') return phaseName(inner);
  return phaseName(outer === 'creating' ? 'requested' : outer);
}

function kindOf(id: string, { now, visited, ahead }: Way): string {
  if (now.has(id)) return 'now';
  if (visited.has(id)) return 'visited';
  return ahead.has(id) ? 'possible' : 'impossible';
}

/** Shows the total time that the payment spent in the state, over all visits. */
function drawPlace({ id, x, y, width, height }: Place, way: Way): Html {
  const left = way.steps.filter(({ from }) => from === id);
  const spent = durationText(left.reduce((sum, { spentMs }) => sum + spentMs, 0));
  const times = left.length > 1 ? `${left.length}× ${spent}` : spent;
  const middle = x + width / 2;
  return html`<g class="place ${kindOf(id, way)}">
    <rect x="${x}" y="${y}" width="${width}" height="${height}" rx="8" />
    <text x="${middle}" y="${y + height / 2 + (left.length === 0 ? 4 : -2)}" text-anchor="middle"
      >${nameOf(id)}</text
    >
    ${left.length === 0 ? undefined : html`<text class="spent" x="${middle}" y="${y + height - 6}" text-anchor="middle">${times}</text>`}
  </g>`;
}

function drawFrame({ id, x, y, width, height }: Place, way: Way): Html {
  const kinds = [...machine.places.keys()]
    .filter((each) => each.startsWith(`${id}.`))
    .map((each) => kindOf(each, way));
  const kind = ['now', 'visited', 'possible'].find((each) => kinds.includes(each)) ?? 'impossible';
  return html`<g class="frame ${kind}"
    ><rect x="${x}" y="${y}" width="${width}" height="${height}" rx="10"
  /></g>`;
}

function drawPossible({ from, to, event }: MachineEdge): Html | undefined {
  const curve = curveOf(from, to);
  if (curve === undefined) return undefined;
  return html`<path class="edge possible" d="${curve}" marker-end="url(#arrow-possible)"
    ><title>${event}</title></path
  >`;
}

function drawTaken(steps: readonly Step[]): Html | undefined {
  const [first] = steps;
  const curve = first && curveOf(first.from, first.to);
  if (curve === undefined) return undefined;
  const hint = steps
    .map(({ event, at, spentMs }) => `${event}, ${at}, after ${durationText(spentMs)}`)
    .join('\n');
  return html`<g class="step">
    <path class="edge taken" d="${curve}" marker-end="url(#arrow-taken)" />
    <path class="grip" d="${curve}"><title>${hint}</title></path>
  </g>`;
}

/** An edge inside a call connects its two states; an edge that leaves the call starts at the frame. */
function curveOf(from: string, to: string): string | undefined {
  const [begin, end] = [machine.places.get(from), machine.places.get(to)];
  if (begin === undefined || end === undefined) return undefined;
  const [outer, target] = [outlineOf(from, begin), outlineOf(to, end)];
  if (isFinalColumn(begin) !== isFinalColumn(end)) return curveAcross(outer, target);
  if (begin.y === end.y) return lineAlong(begin, end);
  const isNext = target.y > outer.y && target.y - outer.y < 80;
  if (isNext && !isFinalColumn(begin)) return lineDown(outer, end);
  return isFinalColumn(begin)
    ? curveBeside(outer, end, outer.x + outer.width, end.x + end.width + 1, 30)
    : curveBeside(outer, target, outer.x, target.x - 1, -14);
}

const outlineOf = (id: string, place: Place): Place =>
  machine.frames.find((frame) => id.startsWith(`${frame.id}.`)) ?? place;

const isFinalColumn = ({ x }: Place): boolean => x === finalsLeft;
const middleOf = ({ y, height }: Place): number => y + height / 2;

function lineAlong(begin: Place, end: Place): string {
  const isForward = end.x > begin.x;
  const x1 = isForward ? begin.x + begin.width : begin.x;
  const x2 = isForward ? end.x - 1 : end.x + end.width + 1;
  const y = middleOf(begin);
  const isNext = Math.abs(x2 - x1) < 80;
  return isNext
    ? `M${x1} ${y}L${x2} ${y}`
    : `M${x1} ${y}C${x1 + 20} ${y - 40} ${x2 - 20} ${y - 40} ${x2} ${y}`;
}

function lineDown(begin: Place, end: Place): string {
  const x = end.x + 40;
  return `M${x} ${begin.y + begin.height}L${x} ${end.y - 1}`;
}

function curveAcross(begin: Place, end: Place): string {
  const isForward = end.x > begin.x;
  const x1 = isForward ? begin.x + begin.width : begin.x;
  const x2 = isForward ? end.x - 1 : end.x + end.width + 1;
  const [y1, y2, bend] = [middleOf(begin), middleOf(end), (x2 - x1) / 2];
  return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
}

/** Routes the edge around the states in between. */
function curveBeside(begin: Place, end: Place, x1: number, x2: number, bulge: number): string {
  const [y1, y2] = [middleOf(begin), middleOf(end)];
  return `M${x1} ${y1}C${x1 + bulge} ${y1} ${x2 + bulge} ${y2} ${x2} ${y2}`;
}
