import { expect, test } from 'vitest';
import { isLoopbackAddress } from './loopback.ts';

test.each(['localhost', '127.0.0.1', '127.9.8.7', '::1', '[::1]'])('%s is this machine', (address) => {
  expect(isLoopbackAddress(address)).toBe(true);
});

test.each(['0.0.0.0', '::', '10.0.0.1', '127.0.0.1.evil.example', '127.evil.example', 'localhost.example'])(
  '%s may be another',
  (address) => {
    expect(isLoopbackAddress(address)).toBe(false);
  },
);
