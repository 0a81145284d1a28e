/** How the person at the terminal has called us, as far as npm tells: for commands to copy. */
export function toCallName(env: Readonly<Record<string, string | undefined>>): string {
  const event = env['npm_lifecycle_event']
  if (event === 'start') return 'npm start --'
  if (event === 'portcullis') return 'npm run portcullis -- up'
  return event === 'npx' ? 'npx portcullis up' : 'portcullis up'
}
