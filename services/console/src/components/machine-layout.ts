/**
 * Positions of the payment machine's states in the picture: intermediate states in rows on the left, final states on
 * the right, the refund below. Computed from the machine's definition, so that new states appear automatically.
 */
import { isFinalPhase, paymentMachine, paymentPhases, type PaymentPhase } from '@tollgate/core';
import type { AnyStateNode } from 'xstate';

/** A state without substates. */
export interface Place {
  /** The machine's notation: `capturing.announced`. */
  id: string;
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface MachineEdge {
  from: string;
  to: string;
  /** Event of the transition. */
  event: string;
}

const margin = 14;
const rowHeight = 58;
const single = { width: 166, height: 36 };
const leaf = { width: 104, height: 36 };
const gap = 8;
/** Room for the label of the refund lane. */
const laneNameWidth = 72;
const frameSize = { width: 2 * leaf.width + 3 * gap, height: leaf.height + 2 * gap };
/** Left edge of the final states: right of the calls, with room for the edges between them. */
export const finalsLeft = margin + frameSize.width + 64;
/** Room for an edge from one final state to another. */
const marginRight = 36;

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

/** Transitions of each state without substates, including those of its parent state. */
function edgesOf(region: AnyStateNode): MachineEdge[] {
  return Object.values(region.states).flatMap((outer) =>
    leavesOf(outer).flatMap((leaf) =>
      [...transitionsOf(leaf), ...(leaf === outer ? [] : transitionsOf(outer))]
        .map(({ event, target }) => ({ from: idOf(leaf), to: idOf(firstLeafOf(target)), event }))
        .filter(({ from, to }) => from !== to),
    ),
  );
}

const middleOf = (row: number): number => margin + frameSize.height / 2 + row * rowHeight;

const placeAt = (id: string, x: number, row: number, size: typeof single): Place => ({
  id,
  x,
  y: middleOf(row) - size.height / 2,
  width: size.width,
  height: size.height,
});

const rowOf = (nodes: readonly AnyStateNode[], left: number, row: number): Place[] =>
  nodes.map((node, column) => placeAt(idOf(node), left + column * (leaf.width + gap), row, leaf));

export function layOutMachine() {
  // In the order of the definition, which starts with the initial state and follows the path of a payment.
  const states = Object.values(lifecycle.states);
  const leading = states.filter(({ key }) => !isFinal(key));
  const isCall = (node: AnyStateNode) => leavesOf(node).length > 1;
  const left = margin + gap;
  const frames = leading.flatMap((node, row) =>
    isCall(node) ? [placeAt(node.key, margin, row, frameSize)] : [],
  );
  const leadingPlaces = leading.flatMap((node, row) =>
    isCall(node) ? rowOf(leavesOf(node), left, row) : [placeAt(node.key, left, row, single)],
  );
  const finals = states
    .filter(({ key }) => isFinal(key))
    .map(({ key }, row) => placeAt(key, finalsLeft, row, leaf));
  const rows = Math.max(leading.length, finals.length);
  // Without a refund in progress, the lane is in none of its states.
  const underWay = Object.values(refund.states).filter(({ key }) => key !== 'idle');
  const lane = rowOf(underWay, left + laneNameWidth, rows);
  const places = [...leadingPlaces, ...finals, ...lane];
  return {
    width: finalsLeft + leaf.width + marginRight,
    height: middleOf(rows) + frameSize.height / 2 + margin,
    places: new Map(places.map((place) => [place.id, place])),
    /** Calls in the lifecycle: states with substates. */
    frames,
    /** Every transition between two states of the lifecycle, or of the refund lane. */
    edges: [...edgesOf(lifecycle), ...edgesOf(refund)],
    /** Vertical centre of the refund lane. */
    refundMiddle: middleOf(rows),
  };
}
