export { registerConsole } from './console.ts';
export { signInAddress } from './session/sessions.ts';
export type { SandboxControls } from './pages/sandbox.ts';
