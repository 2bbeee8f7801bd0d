/** `npm run reference`: writes the references of `docs/`; run it after a variable or an error code has changed. */
import { writeFileSync } from 'node:fs';
import { createConfigurationReference } from './config-reference.ts';
import { createErrorDocument } from './error-reference.ts';

const fileOf = (path: string) => new URL(`../../docs/${path}`, import.meta.url);

writeFileSync(fileOf('operator/configuration.md'), createConfigurationReference());
writeFileSync(fileOf('team/errors.md'), createErrorDocument());
