// The closing line of .ci/run. Plain JavaScript: it must speak even when the first step could not install Node 24.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const [folder] = process.argv.slice(2);
const total = { passed: 0, failed: 0, skipped: 0, failedSteps: 0 };

for (const file of readdirSync(folder).filter((name) => name.endsWith('.status'))) {
  const hasFailed = readFileSync(join(folder, file), 'utf8').trim() !== '0';
  const reportPath = join(folder, file.replace('.status', '.json'));
  const report = existsSync(reportPath) ? JSON.parse(readFileSync(reportPath, 'utf8')) : {};
  const { numPassedTests = 0, numFailedTests = 0, numPendingTests = 0, numTodoTests = 0 } = report;
  total.passed += numPassedTests;
  total.failed += Math.max(numFailedTests, hasFailed ? 1 : 0);
  total.skipped += numPendingTests + numTodoTests;
  total.failedSteps += hasFailed ? 1 : 0;
}

if (total.skipped > 0) console.log(`${total.skipped} skipped`);
if (total.failedSteps > 0) console.log(`${total.failedSteps} of the steps above failed`);
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed === 0 && total.passed > 0 ? 0 : 1;
