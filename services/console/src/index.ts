export { registerConsole } from './console.ts';
export type { IdentityProviderConfig } from './session/identity-provider.ts';
export { issueLink, sessionIdOf, signInAddress } from './session/sessions.ts';
export type { SandboxControls } from './pages/sandbox.ts';
