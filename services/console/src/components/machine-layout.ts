/**
 * Where the states of the machine that runs stand in its picture: what leads on in a row, from where it begins, and what is
 * final below. Computed from its definition, so that a state that is added there is drawn here.
 */
import { isFinalPhase, paymentMachine, paymentPhases, type PaymentPhase } from '@tollgate/core';
import type { AnyStateNode } from 'xstate';

/** A state without states in it. */
export interface Place {
  /** As the machine writes it: `capturing.announced`. */
  id: string;
  x: number;
  y: number;
  width: number;
  height: number;
}

/** A call in the lifecycle: a state with its own states. */
interface Frame extends Place {
  label: string;
}

export interface MachineLayout {
  width: number;
  height: number;
  places: ReadonlyMap<string, Place>;
  frames: readonly Frame[];
  /** Every transition between two states of the lifecycle or of the refund lane. */
  edges: readonly MachineEdge[];
  refundTop: number;
}

export interface MachineEdge {
  from: string;
  to: string;
  /** The event that leads there. */
  event: string;
}

const columnWidth = 168;
const box = { width: 116, height: 30 };
const leafHeight = 24;
const margin = 14;
/** Of the states that lead on, whatever is in them. */
const leadingMiddle = 92;
const finalsTop = 200;
const refundTop = 272;

const { lifecycle, refund } = paymentMachine.root.states as unknown as Record<
  'lifecycle' | 'refund',
  AnyStateNode
>;

const isFinal = (key: string): boolean =>
  (paymentPhases as readonly string[]).includes(key) && isFinalPhase(key as PaymentPhase);

const idOf = (node: AnyStateNode): string =>
  node.parent === lifecycle
    ? node.key
    : node.parent === refund
      ? `refund.${node.key}`
      : `${node.parent?.key ?? ''}.${node.key}`;

const leavesOf = (node: AnyStateNode): AnyStateNode[] =>
  Object.keys(node.states).length === 0 ? [node] : Object.values(node.states);

const firstLeafOf = (node: AnyStateNode): AnyStateNode => leavesOf(node)[0] ?? node;

function transitionsOf(node: AnyStateNode): { event: string; target: AnyStateNode }[] {
  return [...node.transitions].flatMap(([event, transitions]) =>
    transitions.flatMap(({ target }) => (target?.[0] === undefined ? [] : [{ event, target: target[0] }])),
  );
}

/** From each state without states: those of the state around it lead on from it, too. */
function edgesOf(region: AnyStateNode): MachineEdge[] {
  return Object.values(region.states).flatMap((outer) =>
    leavesOf(outer).flatMap((leaf) =>
      [...transitionsOf(leaf), ...(leaf === outer ? [] : transitionsOf(outer))]
        .map(({ event, target }) => ({ from: idOf(leaf), to: idOf(firstLeafOf(target)), event }))
        .filter(({ from, to }) => from !== to),
    ),
  );
}

/** How far a state is from the beginning at most; what leads back does not count. */
function columnsOf(edges: readonly MachineEdge[]): Map<string, number> {
  const outerOf = (id: string) => id.split('.')[0] ?? id;
  const order = Object.keys(lifecycle.states);
  const columns = new Map<string, number>();
  // In the order of the definition, which begins with the beginning: what leads to an earlier state leads back.
  for (const key of order) {
    const before = edges
      .filter(({ from, to }) => outerOf(to) === key && order.indexOf(outerOf(from)) < order.indexOf(key))
      .map(({ from }) => columns.get(outerOf(from)) ?? 0);
    columns.set(key, before.length === 0 ? 0 : Math.max(...before) + 1);
  }
  return columns;
}

/** From where it begins, each in a column of its own: what is as far as another stands beside it. */
function inOrder(edges: readonly MachineEdge[]): AnyStateNode[] {
  const columns = columnsOf(edges);
  return Object.values(lifecycle.states)
    .filter(({ key }) => !isFinal(key))
    .toSorted((one, other) => (columns.get(one.key) ?? 0) - (columns.get(other.key) ?? 0));
}

const placeAt = (id: string, column: number, y: number): Place => ({
  id,
  x: margin + column * columnWidth,
  y,
  ...box,
});

/** A call has its own states, one above the other. */
function frameOf(node: AnyStateNode, column: number): { frame: Frame; leaves: Place[] } {
  const leaves = leavesOf(node);
  const height = 24 + leaves.length * (leafHeight + 6);
  const frame = { ...placeAt(node.key, column, leadingMiddle - height / 2), height, label: node.key };
  const places = leaves.map((leaf, row) => ({
    id: idOf(leaf),
    x: frame.x + 7,
    y: frame.y + 22 + row * (leafHeight + 6),
    width: box.width - 14,
    height: leafHeight,
  }));
  return { frame, leaves: places };
}

export function layOutMachine(): MachineLayout {
  const edges = edgesOf(lifecycle);
  const leading = inOrder(edges);
  const calls = leading.flatMap((node, column) => (leavesOf(node).length > 1 ? [frameOf(node, column)] : []));
  const single = leading.flatMap((node, column) =>
    leavesOf(node).length > 1 ? [] : [placeAt(node.key, column, leadingMiddle - box.height / 2)],
  );
  const finals = Object.values(lifecycle.states)
    .filter(({ key }) => isFinal(key))
    .map(({ key }, column) => placeAt(key, column, finalsTop));
  const lane = Object.values(refund.states).map((node, column) => placeAt(idOf(node), column + 1, refundTop));
  const places = [...single, ...calls.flatMap(({ leaves }) => leaves), ...finals, ...lane];
  return {
    width: margin + Math.max(...places.map(({ x, width }) => x + width)),
    height: refundTop + box.height + 10,
    places: new Map(places.map((place) => [place.id, place])),
    frames: calls.map(({ frame }) => frame),
    edges: [...edges, ...edgesOf(refund)],
    refundTop,
  };
}
