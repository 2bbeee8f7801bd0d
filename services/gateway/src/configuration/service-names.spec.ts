import { StartupError } from '@tollgate/service-kit';
import { describe, expect, it } from 'vitest';
import { readServiceNames, serviceNames, usage } from './service-names.ts';

describe('the services of a process', () => {
  it('are all by default', () => {
    expect(readServiceNames([])).toEqual(serviceNames);
  });

  it('are the named ones, each once, in the order of their start', () => {
    expect(readServiceNames(['api', 'projector', 'api'])).toEqual(['projector', 'api']);
  });

  it.each(['--all', 'Projector', 'payment-service', ''])('are never %j', (name) => {
    const reading = () => readServiceNames(['projector', name]);
    expect(reading).toThrow(StartupError);
    expect(reading).toThrow(JSON.stringify(name));
    for (const known of serviceNames) expect(reading).toThrow(known);
  });

  it('are explained by --help, with any other arguments', () => {
    expect(readServiceNames(['nonsense', '--help'])).toBe('help');
    expect(readServiceNames(['-h'])).toBe('help');
    for (const name of serviceNames) expect(usage).toContain(name);
  });
});
