/** `npm run reference`: writes `docs/operator/configuration.md`; run it after a variable has changed. */
import { writeFileSync } from 'node:fs';
import { createConfigurationReference } from './document.ts';

writeFileSync(
  new URL('../../../../../docs/operator/configuration.md', import.meta.url),
  createConfigurationReference(),
);
