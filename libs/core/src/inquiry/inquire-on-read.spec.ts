import { createFakeClock } from '@tollgate/testing';
import { expect, it } from 'vitest';
import { createInquiryOnRead } from './inquire-on-read.ts';

function start() {
  const clock = createFakeClock();
  const inquiries: string[] = [];
  return {
    clock,
    inquiries,
    read: createInquiryOnRead({ clock, inquire: (token) => inquiries.push(token) }),
  };
}

it('inquires once for all reads within five seconds, then again', async () => {
  const { clock, inquiries, read } = start();
  for (const token of ['a', 'a', 'b', 'a']) read(token);
  expect(inquiries).toEqual(['a', 'b']);
  await clock.advance(4_999);
  read('a');
  expect(inquiries).toEqual(['a', 'b']);
  await clock.advance(1);
  read('a');
  expect(inquiries).toEqual(['a', 'b', 'a']);
});

it('leaves excess work to the schedule, and caches no more than that', async () => {
  const { clock, inquiries, read } = start();
  for (let count = 0; count < 10_500; count += 1) read(`token-${count}`);
  expect(inquiries).toHaveLength(10_000);
  await clock.advance(5_000);
  read('token-10499');
  expect(inquiries).toHaveLength(10_001);
});
