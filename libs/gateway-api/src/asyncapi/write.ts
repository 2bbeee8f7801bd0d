/** Writes `docs/asyncapi.json`; run it after a schema has changed. */
import { writeFileSync } from 'node:fs';
import { createAsyncApiDocument } from './document.ts';

const file = new URL('../../../../docs/asyncapi.json', import.meta.url);
writeFileSync(file, `${JSON.stringify(createAsyncApiDocument(), null, 2)}\n`);
