import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { createAsyncApiDocument } from './document.ts';

// Run `npm run asyncapi` after changing a schema or one of its texts.
it('docs/asyncapi.json matches the schemas', () => {
  const file = new URL('../../../../docs/asyncapi.json', import.meta.url);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(
    JSON.parse(JSON.stringify(createAsyncApiDocument())),
  );
});
