import { after, type TestContext } from 'node:test'
import { open, type PostgresServer } from '@portcullis/test-servers'

const closing: (() => unknown)[] = []
let opening: Promise<PostgresServer | undefined> | undefined
let whyMissing = 'PostgreSQL is missing'

after(async () => {
  for (const close of closing) await close()
})

/**
 * One PostgreSQL for all tests of a file: to make one takes a second. Tests keep apart by their
 * schemas. Undefined, and the test skipped, where it is missing.
 */
export async function openSharedPostgres(
  t: Pick<TestContext, 'skip'>,
): Promise<PostgresServer | undefined> {
  opening ??= open(
    {
      after: (close) => void (close && closing.push(() => (close as () => unknown)())),
      skip: (message) => {
        whyMissing = message ?? whyMissing
      },
    },
    'postgres',
  )
  const postgres = await opening
  if (postgres === undefined) t.skip(whyMissing)
  return postgres
}
