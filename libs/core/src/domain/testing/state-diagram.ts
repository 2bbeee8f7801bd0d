/** Draws a state machine as a Mermaid diagram, from its definition alone. */
import type { AnyStateMachine, AnyStateNode } from 'xstate';

/**
 * @param begins the event that leads to the initial state
 * @param omitted events that are not drawn
 * @param elsewhere other initial states, and their events
 */
export function stateDiagramOf(
  machine: AnyStateMachine,
  begins: string,
  omitted: readonly string[],
  elsewhere: Readonly<Record<string, string>> = {},
): string {
  const { root } = machine;
  const regions = root.type === 'parallel' ? Object.values(root.states) : [root];
  const [main] = regions;
  const inner = main === undefined ? [] : drawStates(main, omitted);
  return [
    'stateDiagram-v2',
    ...(main === undefined
      ? []
      : indent([
          `[*] --> ${idOf(main.initial.target[0])} : ${begins}`,
          ...Object.entries(elsewhere).map(([state, event]) => `[*] --> ${state} : ${event}`),
          ...inner,
        ])),
    ...regions.slice(1).flatMap((region) => indent(drawComposite(region, omitted))),
  ].join('\n');
}

function drawComposite(node: AnyStateNode, omitted: readonly string[]): string[] {
  const first = `[*] --> ${idOf(node.initial.target[0])}`;
  return [`state ${idOf(node)} {`, ...indent([first, ...drawStates(node, omitted)]), '}'];
}

const drawStates = (parent: AnyStateNode, omitted: readonly string[]): string[] =>
  Object.values(parent.states).flatMap((node) => [
    ...(idOf(node) === node.key ? [] : [`state "${node.key}" as ${idOf(node)}`]),
    ...(Object.keys(node.states).length === 0 ? [] : drawComposite(node, omitted)),
    ...drawTransitions(node, omitted),
  ]);

function drawTransitions(node: AnyStateNode, omitted: readonly string[]): string[] {
  const labels = new Map<string, string[]>();
  for (const [event, transitions] of node.transitions)
    for (const { target, guard } of omitted.includes(event) ? [] : transitions) {
      if (target?.[0] === undefined || target[0] === node) continue;
      const arrow = `${idOf(node)} --> ${idOf(target[0])}`;
      const label = typeof guard === 'string' ? `${event} [${guard}]` : event;
      labels.set(arrow, [...(labels.get(arrow) ?? []), label]);
    }
  return [...labels].map(([arrow, events]) => `${arrow} : ${events.join(', ')}`);
}

/** States of different parents may share a key; ids in a diagram may not. Those of the main region use their key. */
function idOf(node: AnyStateNode | undefined): string {
  if (node?.parent === undefined) return node?.key ?? '';
  const { root } = node.machine;
  const main = root.type === 'parallel' ? Object.values(root.states)[0] : root;
  return node.parent === main || node.parent === root ? node.key : `${node.parent.key}_${node.key}`;
}
const indent = (lines: readonly string[]): string[] => lines.map((line) => `  ${line}`);
