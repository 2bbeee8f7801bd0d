/** What `npm run torture` is asked for. */
import { parseArgs } from 'node:util';
import { type Arrangement, arrangementNamed, arrangementNames, usual } from './arrangements.ts';

export const usage = `npm run torture -- [--minutes <n>] [--arrangement <name>] [--seed <text>] [--connections <n>]

Starts the system with a Payment Service that outlives it, loads it, and lets disasters befall it; compares gateway, topics,
views and ledger in the end, and prints a line for each invariant. Nothing but loopback and temporary folders is used.

Processes are killed and stopped; the connections to the Payment Service held and cut; it fails in every way of the sandbox,
and its clock is moved; broker and event store are killed, ended and stopped, and come back; the disk is full for some
seconds (where this user may mount one of limited size; said where not).

  --minutes <n>        how long it is tormented, all arrangements together (20); starts and healing come on top
  --arrangement <name> one of those below; may be given several times; without, all but those in brackets, one after the other
  --seed <text>        decides what befalls it, and when; the machine decides the rest (the time now)
  --connections <n>    flows at once (8)

${listOfArrangements()}

-kafka needs Java and Maven, as npm run kafka:up does. -eventstoredb is the server of the specs, which speaks its protocol.
Ends with 0 where every invariant holds in each arrangement, with 1 where one does not or an arrangement could not run.
`;

function listOfArrangements(): string {
  const isUsual = (name: string) => usual.some((each) => each.name === name);
  return arrangementNames.map((name) => `  ${isUsual(name) ? name : `(${name})`}`).join('\n');
}

export interface Options {
  minutes: number;
  arrangements: readonly Arrangement[];
  seed: string;
  connections: number;
}

/** What is wrong with the command line, as a sentence. */
export class BadUsage extends Error {}

const options = {
  minutes: { type: 'string', default: '20' },
  arrangement: { type: 'string', multiple: true, default: [] as string[] },
  seed: { type: 'string' },
  connections: { type: 'string', default: '8' },
  help: { type: 'boolean', default: false },
} as const;

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    throw new BadUsage(`${(error as Error).message.split('. ', 1).join('').replace(/\.$/, '')}.`);
  }
}

/** @throws BadUsage */
export function readCommandLine(args: readonly string[], seed: string): Options | 'help' {
  const values = parse(args);
  if (values.help) return 'help';
  const [minutes, connections] = [Number(values.minutes), Number(values.connections)];
  if (!(minutes > 0 && minutes <= 10_000))
    throw new BadUsage('--minutes must be a number above 0, and at most 10000.');
  if (!(Number.isInteger(connections) && connections >= 1 && connections <= 64))
    throw new BadUsage('--connections must be a whole number from 1 to 64.');
  const named = values.arrangement.map((name) => {
    const arrangement = arrangementNamed(name);
    if (arrangement === undefined)
      throw new BadUsage(`--arrangement must be one of ${arrangementNames.join(', ')}.`);
    return arrangement;
  });
  return {
    ...{ minutes, connections, seed: values.seed ?? seed },
    arrangements: named.length === 0 ? usual : [...new Set(named)],
  };
}
