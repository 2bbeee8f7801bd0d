/** `npm run reference`: writes the references of `docs/`; run it after a variable or an error code has changed. */
import { writeFileSync } from 'node:fs';
import { createErrorDocument } from '../../edge/openapi/error-reference.ts';
import { createConfigurationReference } from './document.ts';

const fileOf = (path: string) => new URL(`../../../../../docs/${path}`, import.meta.url);

writeFileSync(fileOf('operator/configuration.md'), createConfigurationReference());
writeFileSync(fileOf('team/errors.md'), createErrorDocument());
