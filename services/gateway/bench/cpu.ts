import { readFileSync, readdirSync } from 'node:fs';
import { createPayments } from './http-load.ts';
import { cpuMsOf, memoryOf, startBareService, startGateway, stopAll, untilShown } from './programs.ts';
const n = Number(process.argv[2] ?? 20000), conns = Number(process.argv[3] ?? 32), rounds = Number(process.argv[4] ?? 3), rate = Number(process.argv[5] ?? Infinity);
function threads(pid: number) {
  const m = new Map<string, number>();
  for (const t of readdirSync(`/proc/${pid}/task`)) {
    const s = readFileSync(`/proc/${pid}/task/${t}/stat`, 'utf8');
    const name = s.slice(s.indexOf('(') + 1, s.lastIndexOf(')'));
    const f = s.slice(s.lastIndexOf(')') + 2).split(' ');
    const key = t === String(pid) ? 'main' : name + (name.startsWith('Worker') || name === 'node' ? t : '');
    m.set(key, (m.get(key) ?? 0) + (Number(f[11]) + Number(f[12])) * 10);
  }
  return m;
}
try {
  const service = await startBareService();
  const prof = process.env['PROF'];
  const gateway = await startGateway({ service, name: 'gateway', env: { ...(prof ? { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${prof}` } : {}), ...JSON.parse(process.env['GENV'] ?? '{}'), ...(process.env['X'] ? { X: process.env['X'] } : {}), ...(process.env['MODE'] ? { MODE: process.env['MODE'] } : {}) } });
  const pid = gateway.child.pid ?? 0;
  await createPayments({ ...gateway, connections: conns, durationMs: 60000, countMax: 4000 });
  for (let r = 0; r < rounds; r++) {
    if (process.env['ALLOC'] && r === rounds - 1) { gateway.child.kill('SIGUSR2'); await new Promise((x) => setTimeout(x, 300)); }
    const before = threads(pid);
    const res = await createPayments({ ...gateway, connections: conns, durationMs: 600000, countMax: n, perSecondMax: rate });
    const mid = threads(pid);
    let shown = -1;
    if (!process.env['NOSHOW']) shown = await untilShown(gateway);
    if (process.env['ALLOC'] && r === rounds - 1) { gateway.child.kill('SIGUSR2'); await new Promise((x) => setTimeout(x, 4000)); }
    const after = threads(pid);
    const diff = [...after].map(([k, v]) => [k, (v - (before.get(k) ?? 0)) / n] as const).filter(([, v]) => v > 0.0005).sort((a, b) => b[1] - a[1]);
    const total = diff.reduce((s, [, v]) => s + v, 0);
    const dm = [...mid].reduce((s, [k, v]) => s + v - (before.get(k) ?? 0), 0) / n;
    console.log(`${Math.round(res.perSecond)}/s p50 ${res.medianMs.toFixed(1)} p99 ${res.p99Ms.toFixed(1)} cpu/creation ${total.toFixed(3)} ms (during ${dm.toFixed(3)}) shown ${shown.toFixed(0)} ms; ${diff.map(([k, v]) => `${k} ${v.toFixed(3)}`).join(', ')}; rss ${memoryOf(gateway.child).now.toFixed(0)}`);
  }
} finally { await stopAll(); }
