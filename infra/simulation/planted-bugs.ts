/**
 * Bugs that are planted into a copy of the sources, one at the line of each rule of the design. Each must be caught within its
 * seeds: one that survives is a hole in the simulation.
 */

export interface PlantedBug {
  name: string;
  /** The rule or the finding that it breaks. */
  breaks: string;
  file: string;
  /** Stands in the file once. */
  from: string;
  to: string;
  /** Within how many seeds it is caught. */
  seeds: number;
}

const domain = 'libs/core/src/domain';
const core = 'libs/core/src';
const provider = 'libs/provider/src/payment-service';

export const plantedBugs: readonly PlantedBug[] = [
  // Calls
  {
    name: 'send-whenever',
    breaks: 'I4: nothing is sent after sendBy',
    seeds: 100,
    file: `${core}/outbound/send-once.ts`,
    from: 'return () => clock.now() < sendBy && ageMs() < times.sendWithinMs;',
    to: 'return () => sendBy > 0 || clock.now() + ageMs() + times.sendWithinMs > 0;',
  },
  {
    name: 'ask-before-connecting',
    breaks: 'F15: the clock is asked before the first byte',
    seeds: 100,
    file: `${provider}/exchange.ts`,
    from: "if (!maySend()) throw Object.assign(new Error('too late'), { code: 'SEND_TIME_PASSED' });",
    to: 'void maySend;',
  },
  {
    name: 'sends-after-suspension',
    breaks: 'F9: a suspended sender does not send',
    seeds: 400,
    file: 'libs/service-kit/src/stopwatch.ts',
    from: 'return Math.abs(wallMs - monotonicMs) > differenceMsMax ? Infinity : Math.max(wallMs, monotonicMs);',
    to: 'return Math.max(wallMs, monotonicMs + 0 * differenceMsMax);',
  },
  {
    name: 'refusal-believed-at-once',
    breaks: 'T1: a refusal is believed once an inquiry shows no effect',
    seeds: 100,
    file: `${core}/outbound/send-once.ts`,
    from: 'if (!isRefusal || hasNoEffect === undefined || isConfirmed?.(outcome) === false) return outcome;',
    to: 'if (!isRefusal || hasNoEffect === undefined || isConfirmed !== null) return outcome;',
  },
  {
    name: 'unknown-is-not-sent',
    breaks: 'a timeout is no decline',
    seeds: 100,
    file: `${domain}/outbound-call/outbound-call.ts`,
    from: '      return leaveUnresolved(call, outcome.reason, outcome.errors?.slice(0, errorsMax));',
    to: '      return call.notSent(cut(outcome.reason), false);',
  },
  {
    name: 'quiet-period-by-the-wall-clock',
    breaks: 'absence counts once the call was observed for its quiet period',
    seeds: 200,
    file: `${core}/outbound/quiet-periods.ts`,
    from: 'if (isOver(call.quietUntil)) return',
    to: 'if (isOver(call.quietUntil) || clock.now() >= call.quietUntil) return',
  },
  {
    name: 'call-before-append',
    breaks: 'I3: announced before it is sent',
    seeds: 100,
    file: 'libs/event-store/src/load-decide-append.ts',
    from: 'const answer = await store.append(stream, toNewEvents(events, { state, revision }), revision);',
    to: "const answer = { kind: 'appended', revision: (revision === 'no-stream' ? -1 : revision) + events.length, position: '' } as any;\n  void store.append(stream, toNewEvents(events, { state, revision }), revision).catch(() => undefined);",
  },
  {
    name: 'append-without-expectation',
    breaks: 'I17: only the one whose append won',
    seeds: 100,
    file: 'libs/event-store/src/load-decide-append.ts',
    from: 'const answer = await store.append(stream, toNewEvents(events, { state, revision }), revision);',
    to: "const answer = await store.append(stream, toNewEvents(events, { state, revision }), 'any');",
  },

  // Money
  {
    name: 'refund-over-the-sum',
    breaks: 'I2: refunds within what was approved',
    seeds: 100,
    file: `${domain}/payment/refunds.ts`,
    from: 'if (amount < 1 || amount > left)',
    to: 'if (amount < 1)',
  },
  {
    name: 'refunds-side-by-side',
    breaks: 'one refund at a time',
    seeds: 100,
    file: `${domain}/payment/refunds.ts`,
    from: "if (isAnotherUndecided) return refuse({ code: 'operation_in_progress' });\n  const sumUnknown",
    to: 'const sumUnknown',
  },
  {
    name: 'older-status',
    breaks: 'I11: a stale read contradicts no final status',
    seeds: 100,
    file: `${domain}/payment/observation.ts`,
    from: 'return mayTakeMoney && (hasFailed || !isStale(inquired)) ?',
    to: 'return mayTakeMoney ?',
  },
  {
    name: 'adopts-strangers',
    breaks: "F4: another installation's payment is not ours",
    seeds: 200,
    file: `${domain}/outbound-call/outbound-call.ts`,
    from: '): boolean => hasOurCallback && createdAt >= sendBy - clockToleranceMs;',
    to: '): boolean => hasOurCallback || createdAt >= sendBy - clockToleranceMs || createdAt > 0;',
  },
  {
    name: 'payout-of-any-team',
    breaks: 'S1: a team pays out of its own wallet',
    seeds: 60,
    file: 'libs/modules/wallets/src/balance-and-limit-guard.ts',
    from: 'left: ledger.byAccount.get(account)?.available ?? 0n,',
    to: 'left: (ledger.byAccount.get(account)?.available ?? 0n) + 1_000_000n,',
  },
  {
    name: 'amount-as-approved',
    breaks: 'a discrepancy counts with its worst case',
    seeds: 200,
    file: `${domain}/payment/observation.ts`,
    from: 'reserved.own = worstCaseOf({',
    to: 'reserved.own = 0 * worstCaseOf({',
  },

  // Ledger
  {
    name: 'wallet-of-the-team',
    breaks: 'M1: the wallet of a payment is fixed when its money arrives',
    seeds: 60,
    file: 'libs/books/src/ledger.ts',
    from: 'const { environment, wallet, terms, attempt, notPayable } = payment;',
    to: 'const { environment, terms, attempt, notPayable } = payment;\n  const wallet = `team-${payment.team}`;',
  },
  {
    name: 'lost-dispute-stays',
    breaks: 'M2: a lost dispute leaves the balance',
    seeds: 200,
    file: 'libs/books/src/ledger.ts',
    from: 'const lost = BigInt(isPaidPhase(payment) ? lostAmount(payment) : 0);',
    to: 'const lost = 0n * BigInt(lostAmount(payment));',
  },
  {
    name: 'disputed-money-refundable',
    breaks: 'M3: disputed money is not refundable',
    seeds: 200,
    file: `${domain}/payment/payment-state.ts`,
    from: 'refundableIfWon(payment) - disputedAmount(payment) - lostAmount(payment)',
    to: 'refundableIfWon(payment) - 0 * (disputedAmount(payment) + lostAmount(payment))',
  },
  {
    name: 'every-answer-frees',
    breaks: 'M4: only a freeing resolution of an operator frees money',
    seeds: 400,
    file: `${domain}/review.ts`,
    from: "const state = releases === true ? 'released' : 'kept';",
    to: "const state = releases !== undefined || resolution !== '' ? 'released' : 'kept';",
  },
  {
    name: 'team-frees-its-own-money',
    breaks: 'M4: a key of the team that gains frees nothing',
    seeds: 400,
    file: `${core}/operations/who-may-resolve.ts`,
    from: "return operatorResolutions.includes(resolution) ? 'operator_required' : undefined;",
    to: "return resolution.length === 0 ? 'operator_required' : undefined;",
  },
  {
    name: 'adopted-by-both-teams',
    breaks: 'M5: an adopted payment belongs to one team',
    seeds: 200,
    file: 'libs/modules/adoption/src/adopt-row.ts',
    from: 'deriveAdoptedToken({ installation, ...order }, order.account, serviceToken)',
    to: 'deriveAdoptedToken({ installation, ...order }, order.account + order.team, serviceToken)',
  },
  {
    name: 'adopted-payments-payable',
    breaks: 'M7: adopted payments open at zero',
    seeds: 60,
    file: 'libs/books/src/ledger.ts',
    from: "[notPayable === true ? 'adopted' : 'available']",
    to: "[notPayable === true && taken < 0n ? 'adopted' : 'available']",
  },
  {
    name: 'limit-from-when-it-was-set',
    breaks: 'M9: a daily limit counts the whole day',
    seeds: 100,
    file: 'libs/modules/wallets/src/daily-limit.ts',
    from: 'left: BigInt(perDay) - ledger.spentOf(today, keyId),',
    to: 'left: BigInt(perDay) - 0n * ledger.spentOf(today, keyId),',
  },

  // Inquiries
  {
    name: 'no-schedule',
    breaks: 'I9: what is lost is inquired',
    seeds: 60,
    file: 'services/gateway/src/composition/services/command-service.ts',
    from: 'place: () => (mayInquire() ? members.place(inquirySchedule) : undefined),',
    to: 'place: () => undefined,',
  },
  {
    name: 'stale-observation',
    breaks: 'an inquiry that was overtaken decides nothing',
    seeds: 400,
    file: `${core}/inquiry/inquire-payment.ts`,
    from: 'const executed = await deps.payments.execute(token, observation, cause, { onlyAt });',
    to: 'const executed = await deps.payments.execute(token, observation, cause, { onlyAt: onlyAt === -1 ? 0 : undefined });',
  },

  // Edges
  {
    name: 'callback-acknowledged-first',
    breaks: 'I6: 200 means durable',
    seeds: 100,
    file: 'services/callback-ingester/src/callback-ingester.ts',
    from: '    await publishInTime(deps, message);',
    to: '    void publishInTime(deps, message).catch(() => undefined);',
  },
  {
    name: 'payment-of-any-team',
    breaks: 'I14: no team changes what is not its own',
    seeds: 60,
    file: `${core}/operations/operation.ts`,
    from: 'return aggregate !== undefined && isOwnedBy(aggregate.payment, caller) ? aggregate : undefined;',
    to: 'return aggregate !== undefined && (isOwnedBy(aggregate.payment, caller) || token !== "") ? aggregate : undefined;',
  },

  // Followers
  {
    name: 'checkpoint-before-views',
    breaks: 'I8: no checkpoint is ahead',
    seeds: 200,
    file: 'libs/modules/views/src/projector.ts',
    from: '    await projection.write(written);\n    const { position } = item;\n    const failedStreams = projection.failedStreams();\n    if (written.length > 0 && position >= last.position) {\n      await checkpoint.advance({ position, counts: counts.current(), failedStreams });\n      recount.isDue = false;\n    }\n',
    to: '    const { position } = item;\n    const failedStreams = projection.failedStreams();\n    if (written.length > 0 && position >= last.position) {\n      await checkpoint.advance({ position, counts: counts.current(), failedStreams });\n      recount.isDue = false;\n    }\n    await projection.write(written);\n',
  },
  {
    name: 'events-passed-over',
    breaks: 'I8: a position is reached with all events up to it',
    seeds: 100,
    file: 'libs/event-store/src/follower/local-projection.ts',
    from: '      apply(rows, events);',
    to: '      apply(rows, events.length > 3 ? events.slice(1) : events);',
  },
];
