/** What waits for a person: raised once, with evidence, and ended by what a person says or by what is found out later. */
import { z } from 'zod';

export const evidenceSchema = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]));
/** Which attention is meant; without it, as in the oldest events, all that is open of its code. */
export const attentionNumberSchema = z.int().min(1);
export type Evidence = Readonly<Record<string, string | number | boolean | null>>;

export interface Attention<Code extends string = string> {
  code: Code;
  evidence: Evidence;
  /** From 1, over the life of what it is about: tells it from others of its code, also from those that are over. */
  number: number;
}

/** What is open, and what a person has dealt with: the same finding is not brought before a person again. */
export interface Attended<Code extends string = string> {
  attention: readonly Attention<Code>[];
  acknowledged: readonly Attention<Code>[];
  /** How many were raised until now; the latest has this number. */
  attentionCount: number;
}

export const noAttention = { attention: [], acknowledged: [], attentionCount: 0 } as const;

/** The ways out that a person has. What each does is decided where the code belongs. */
export const resolutions = [
  /** It is dealt with elsewhere; it stays as it is here. */
  'acknowledged',
  /** The service may know more now. */
  'look_again',
  /** The person made sure that the service never made it, or undid it. */
  'payment_not_made',
  'payout_not_made',
  'refund_made',
  'refund_not_made',
] as const;
export const resolutionSchema = z.enum(resolutions);
export type Resolution = z.infer<typeof resolutionSchema>;

export interface AttentionRaised<Code extends string> {
  type: 'AttentionRaised';
  data: { code: Code; evidence: Record<string, string | number | boolean | null> };
}
export interface AttentionResolved<Code extends string> {
  type: 'AttentionResolved';
  /** Without a number: all that is open of the code. */
  data: { code: Code; resolution: string; reason: string; number?: number | undefined };
}

/** Of one text of a piece of evidence, characters: what the service sends may be of any length. */
const evidenceLengthMax = 256;

/** Raises attention unless the same code is open already, or a person has acknowledged this very evidence. */
export function raiseOnce<Code extends string>(
  state: Pick<Attended, 'attention' | 'acknowledged'>,
  code: Code,
  evidence: Evidence,
): AttentionRaised<Code>[] {
  if (isOpen(state, code)) return [];
  const short = Object.entries(evidence).map(([name, value]) => [
    name,
    typeof value === 'string' ? cutEvidence(value) : value,
  ]);
  const data = { code, evidence: Object.fromEntries(short) as AttentionRaised<Code>['data']['evidence'] };
  const isKnown = state.acknowledged.some(
    (known) => known.code === code && isSame(known.evidence, data.evidence),
  );
  return isKnown ? [] : [{ type: 'AttentionRaised', data }];
}

const cutEvidence = (text: string): string => text.slice(0, evidenceLengthMax);

/** As {@link raiseOnce}, where one may be open for each value of this one entry of the evidence. */
export function raiseOnceEach<Code extends string>(
  state: Attended,
  code: Code,
  evidence: Evidence,
  entry: string,
): AttentionRaised<Code>[] {
  const alike = state.attention.filter((open) => isAbout(open, entry, evidence[entry]));
  return raiseOnce({ ...state, attention: alike }, code, evidence);
}

/** True where the evidence names this; nothing and an entry that is missing are the same. */
export const isAbout = (
  { evidence }: Pick<Attention, 'evidence'>,
  entry: string,
  value: Evidence[string] | undefined,
): boolean =>
  (evidence[entry] ?? null) === (typeof value === 'string' ? cutEvidence(value) : (value ?? null));

const isSame = (a: Evidence, b: Evidence): boolean =>
  Object.keys(a).length === Object.keys(b).length &&
  Object.entries(a).every(([name, value]) => Object.hasOwn(b, name) && b[name] === value);

export const isOpen = <Code extends string>(
  { attention }: Pick<Attended<Code>, 'attention'>,
  code: Code,
): boolean => attention.some((open) => open.code === code);

/** The one open attention that a person means. */
export const findOpen = <Code extends string>(
  { attention }: Pick<Attended<Code>, 'attention'>,
  { code, number }: Pick<Attention<Code>, 'code' | 'number'>,
): Attention<Code> | undefined => attention.find((open) => open.code === code && open.number === number);

/** Ends those that are over: in one event where nothing of their code stays open, one by one where something does. */
export function resolveWhere<Code extends string>(
  { attention }: Pick<Attended<Code>, 'attention'>,
  isOver: (open: Attention<Code>) => boolean,
  resolution: string,
  reason: string,
): AttentionResolved<Code>[] {
  const over = attention.filter(isOver);
  return [...new Set(over.map(({ code }) => code))].flatMap((code) => {
    const ended = over.filter((each) => each.code === code);
    const isAll = ended.length === attention.filter((open) => open.code === code).length;
    const numbers = isAll ? [{}] : ended.map(({ number }) => ({ number }));
    return numbers.map((which): AttentionResolved<Code> => ({
      type: 'AttentionResolved',
      data: { code, ...which, resolution, reason },
    }));
  });
}

/** Ends all that is open of a code, where it is. */
export const resolveOpen = <Code extends string>(
  state: Attended<Code>,
  code: Code,
  resolution: string,
  reason: string,
): AttentionResolved<Code>[] => resolveWhere(state, (open) => open.code === code, resolution, reason);

export function afterRaised<Code extends string>(
  { attention, attentionCount }: Attended<Code>,
  { code, evidence }: Pick<Attention<Code>, 'code' | 'evidence'>,
): Pick<Attended<Code>, 'attention' | 'attentionCount'> {
  const number = attentionCount + 1;
  return { attention: [...attention, { code, evidence, number }], attentionCount: number };
}

/** After these the person does not want to hear of the same finding again. */
const lastWords: ReadonlySet<string> = new Set(resolutions.filter((each) => each !== 'look_again'));

export function afterResolved<Code extends string>(
  { attention, acknowledged }: Attended<Code>,
  { code, number, resolution }: AttentionResolved<Code>['data'],
): Pick<Attended<Code>, 'attention' | 'acknowledged'> {
  const ended = attention.filter(
    (open) => open.code === code && (number === undefined || open.number === number),
  );
  return {
    attention: attention.filter((open) => !ended.includes(open)),
    acknowledged: lastWords.has(resolution) ? [...acknowledged, ...ended] : acknowledged,
  };
}
