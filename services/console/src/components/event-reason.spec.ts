import { describe, expect, it } from 'vitest';
import { changeIn, openRefusal, reasonIn } from './event-reason.ts';

const event = (type: string, data: Record<string, unknown> = {}) => ({ type, data });

describe('the reason of an event', () => {
  it("is in the Payment Service's words, or in ours if it gave none", () => {
    expect(reasonIn({ reason: 'refused', errors: [{ code: 'limit', message: 'Too much.' }] })).toBe(
      'Too much.',
    );
    expect(reasonIn({ reason: 'refused' })).toBe('Refused by the Payment Service.');
    expect(reasonIn({ amount: 1 })).toBeUndefined();
  });

  it('names a change of status, of a revision and of a review', () => {
    expect(changeIn({ from: 'approved', to: 'declined' })).toBe('Approved → Declined');
    expect(changeIn({ evidence: { status: 'approved', observedStatus: 'declined' } })).toBe(
      'Approved → Declined',
    );
    expect(changeIn({ evidence: { status: 'approved', observedStatus: 'approved' } })).toBeUndefined();
  });
});

/** A refused capture must not be followed by "Waits for the team to capture or void" alone. */
describe('a refusal', () => {
  it('is shown until another event follows, whatever else is known', () => {
    const refused = event('CaptureRefused', { errors: [{ code: 'gone', message: 'Too late.' }] });
    expect(openRefusal([event('CaptureSubmitted'), refused])).toBe('The capture was refused: Too late.');
    expect(openRefusal([refused, event('ReviewOpened')])).toBe('The capture was refused: Too late.');
    expect(openRefusal([refused, event('CaptureSubmitted')])).toBeUndefined();
    expect(openRefusal([event('PaymentApproved')])).toBeUndefined();
  });
});
