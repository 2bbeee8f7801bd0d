// The closing lines of .ci/run: what failed, by name, and how many tests there were. Plain JavaScript: it must speak even
// when the first step could not install Node 24.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';

const [folder] = process.argv.slice(2);
const total = { passed: 0, failed: 0, skipped: 0 };
const failedSteps = [];
const failedTests = [];

/** The names of failed tests in a vitest report, each with the first line of its error. */
function failuresIn({ testResults = [] }) {
  return testResults.flatMap(({ name, status, message, assertionResults = [] }) => {
    const failed = assertionResults.filter((test) => test.status === 'failed');
    const file = relative(process.cwd(), name);
    // The file could not be loaded, or its worker exited first.
    if (failed.length === 0)
      return status === 'failed' ? [`${file}: ${firstLine(message) || 'it did not finish'}`] : [];
    return failed.map((test) => `${file} > ${test.fullName}: ${firstLine(test.failureMessages?.[0])}`);
  });
}

const firstLine = (message = '') => message.split('\n', 1)[0];

for (const file of readdirSync(folder).filter((name) => name.endsWith('.status'))) {
  const hasFailed = readFileSync(join(folder, file), 'utf8').trim() !== '0';
  const reportPath = join(folder, file.replace('.status', '.json'));
  const report = existsSync(reportPath) ? JSON.parse(readFileSync(reportPath, 'utf8')) : {};
  const { numPassedTests = 0, numFailedTests = 0, numPendingTests = 0, numTodoTests = 0 } = report;
  total.passed += numPassedTests;
  total.failed += Math.max(numFailedTests, hasFailed ? 1 : 0);
  total.skipped += numPendingTests + numTodoTests;
  failedTests.push(...failuresIn(report));
  if (hasFailed)
    failedSteps.push(readFileSync(join(folder, file.replace('.status', '.name')), 'utf8').trim());
}

for (const failure of failedTests) console.log(`failed: ${failure}`);
if (total.skipped > 0) console.log(`${total.skipped} skipped`);
if (failedSteps.length > 0) console.log(`failed steps: ${failedSteps.join(', ')}`);
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed === 0 && total.passed > 0 ? 0 : 1;
