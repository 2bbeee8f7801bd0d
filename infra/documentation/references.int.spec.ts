import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { apiErrors } from '@tollgate/gateway-api/http';
import { createConfigurationReference } from './config-reference.ts';
import { createErrorDocument } from './error-reference.ts';

/** Prettier makes the columns of a table equally wide. */
const withoutPadding = (page: string) => page.replaceAll(/ +/g, ' ').replaceAll(/-{3,}/g, '---');

// Run `npm run reference` after changing a variable or its text.
it('docs/operator/configuration.md matches the schemas', () => {
  const file = new URL('../../docs/operator/configuration.md', import.meta.url);
  expect(withoutPadding(readFileSync(file, 'utf8'))).toBe(withoutPadding(createConfigurationReference()));
});

// Run it after changing an error code or its text as well.
it('docs/team/errors.md matches the error table, with an anchor for each code', () => {
  const file = new URL('../../docs/team/errors.md', import.meta.url);
  const page = readFileSync(file, 'utf8');
  expect(withoutPadding(page)).toBe(withoutPadding(createErrorDocument()));
  for (const code of Object.keys(apiErrors)) expect(page).toContain(`\n## \`${code}\`\n`);
});

it('shows the accepted values of a variable in the words of its refusal, and its default as written', () => {
  const page = withoutPadding(createConfigurationReference());
  expect(page).toContain('| `CALLBACK_DAYS` | `400` | a whole number of days from 30 to 3650 |');
  expect(page).toContain('| `FINAL_INQUIRIES_AFTER_S` | `3600,86400,604800,2592000` | numbers of seconds');
  expect(page).toContain('| `EVENTSTORE_URL` | | esdb://host:port');
  expect(page).toContain('| `inquiriesPerSecondMax` | `200` | a whole number from 1 to 1000000 |');
});
