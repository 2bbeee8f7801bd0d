// Runs before `npm run test:browser`: without Debian's Chromium the tests must fail, not be skipped. Plain JavaScript.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const [chromium = '/usr/bin/chromium'] = process.argv.slice(2);

function aptGet(...args) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  return spawnSync('apt-get', args, { env, stdio: ['ignore', 'ignore', 'inherit'] }).status === 0;
}

function ensureChromium() {
  if (existsSync(chromium)) return true;
  if (process.getuid?.() !== 0 || spawnSync('apt-get', ['--version']).error !== undefined) return false;
  console.log('Installing Chromium (first run only, about a minute) …');
  aptGet('update');
  return aptGet('install', '--yes', '--no-install-recommends', 'chromium') && existsSync(chromium);
}

if (!ensureChromium()) {
  console.error(
    `The browser tests need Chromium at ${chromium}: install it (on Debian, \`apt-get install chromium\` as root), then start again.`,
  );
  process.exitCode = 1;
}
