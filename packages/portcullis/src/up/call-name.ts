import { createCallName } from '@portcullis/service-kit/cli/call-name'

/** Returns the command line with which `up` was called, for commands that the user can copy. */
export function toCallName(env: Readonly<Record<string, string | undefined>>): string {
  return createPortcullisCall(env)('up')
}

export function createPortcullisCall(
  env: Readonly<Record<string, string | undefined>>,
): (command: string) => string {
  return createCallName({
    name: 'portcullis',
    packageName: '@portcullis/portcullis',
    env,
    script: process.argv[1] ?? '',
    startCommand: 'up',
  })
}
