import { after, type TestContext } from 'node:test'
import { open, type ServerName } from '@portcullis/test-servers'

/**
 * Shares one server among all tests of the process and closes it after the last one. Returns
 * undefined and skips the test if its program is missing.
 */
export function shareServer<Name extends ServerName>(name: Name) {
  const closing: (() => unknown)[] = []
  let opening: ReturnType<typeof open<Name>> | undefined
  let whyMissing = `${name} is missing`
  after(async () => {
    for (const close of closing) await close()
  })
  const whole: Pick<TestContext, 'after' | 'skip'> = {
    after: (close) => void (close && closing.push(() => (close as () => unknown)())),
    skip: (message) => {
      whyMissing = message ?? whyMissing
    },
  }
  return async (t: Pick<TestContext, 'skip'>) => {
    opening ??= (open as (t: typeof whole, name: Name) => NonNullable<typeof opening>)(whole, name)
    const server = await opening
    if (server === undefined) t.skip(whyMissing)
    return server
  }
}
