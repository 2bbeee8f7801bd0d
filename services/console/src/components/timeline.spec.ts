import { describe, expect, it } from 'vitest';
import { timeline } from './timeline.ts';

const at = (minute: number) => `2030-01-01T12:${String(minute).padStart(2, '0')}:00.000Z`;
const event = (type: string, minute: number, correlationId: string, causationId = correlationId) => ({
  revision: minute,
  type,
  at: at(minute),
  phase: 'approved' as const,
  status: 'approved',
  data: {},
  cause: { correlationId, causationId, actor: { kind: 'service', name: 'command-service' } },
});
const htmlOf = (events: ReturnType<typeof event>[]): string =>
  timeline({ events, webhooks: [], disputes: [], currency: 'EUR', replayForm: undefined }).html;

describe('a timeline', () => {
  it('links an event to the request or reconciliation that caused it', () => {
    const page = htmlOf([event('PaymentRequested', 0, 'req_1'), event('PaymentApproved', 0, 'rcn_1')]);
    expect(page).toContain('href="/console/search?q=req_1"');
    expect(page).toContain('href="/console/reconciliations/rcn_1"');
  });

  it('shows a callback before its effects, with the record of its topic', () => {
    const page = htmlOf([event('PaymentApproved', 0, '8d3c2b1a-0000', 'provider.callbacks.v1/1/7')]);
    expect(page.indexOf('class="callback')).toBeLessThan(page.indexOf('class="event'));
    expect(page).toContain('<code>provider.callbacks.v1/1/7</code>');
  });

  // Rows show only the time of day, so a gap of days must name the day.
  it('shows the length of a gap, and the day of the next row', () => {
    const page = htmlOf([event('PaymentRequested', 0, 'req_1'), event('PaymentApproved', 30, 'req_2')]);
    expect(page).toMatch(/<li class="gap">30 min · <time datetime="2030-01-01T12:30:00.000Z"/);
  });
});
