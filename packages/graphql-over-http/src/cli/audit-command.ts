import { writeFile } from 'node:fs/promises'
import type { AuditResult } from '../audits/index.ts'
import { discardBodies, runAudits, serverAudits, toAuditReport } from '../audits/index.ts'
import type { AuditArguments } from './args.ts'
import { CommandError } from './command-error.ts'
import { describeFailure } from './failure.ts'
import { renderAuditPage } from './html-page.ts'
import { probe } from './probe.ts'
import { createProgress, type ProgressStream, silentProgress } from './progress.ts'
import { renderTable } from './table.ts'

/** Fast enough, without looking like an attack. */
const CONCURRENCY = 8

/** How long to wait in total for a server that responds with 429. */
const MOST_WAIT_MS = 15 * 60_000

/** The output streams, as `main.ts` detected them. */
export interface Terminal {
  readonly stdout: ProgressStream
  readonly stderr: ProgressStream
  /** Whether the results go to a terminal with colours. */
  readonly color: boolean
  /** Whether stderr is a terminal on which progress can be shown. */
  readonly showsProgress: boolean
}

/** Audits a server, writes the requested reports, and resolves to the exit code. */
export async function runAuditCommand(
  args: AuditArguments,
  { stdout, stderr, color, showsProgress }: Terminal,
): Promise<number> {
  const { url, headers, profile, extended, timeoutMs } = args
  await probe(url, { headers, timeoutMs })
  const fetchInit = { redirect: 'manual' } as const
  const audits = serverAudits({ url, headers, profile, extended, fetchInit })
  const progress = showsProgress ? createProgress(stderr, audits.length) : silentProgress
  let results: AuditResult[]
  try {
    results = await runAudits(
      audits.map((audit) => ({ ...audit, fn: () => withDeadline(audit.fn(), args) })),
      {
        concurrency: CONCURRENCY,
        onResult: ({ id, name }) => progress.advance(`${id} ${name}`),
        mostWaitMs: MOST_WAIT_MS,
        onWait: (waitMs) => progress.wait(`rate limited: waiting ${Math.ceil(waitMs / 1000)} s`),
      },
    )
  } finally {
    progress.end()
  }
  if (args.html !== undefined) {
    const page = renderAuditPage(results, { url, profile })
    await writePage(args.html, await withDeadline(page, args))
    stderr.write(`The report page is in ${args.html}\n`)
  }
  await discardBodies(results)
  const report = toAuditReport(results)
  stdout.write(
    args.json
      ? `${JSON.stringify({ url, profile, ...report }, null, 2)}\n`
      : renderTable(results, { url, color, columns: stdout.columns }),
  )
  const fails = args.failOn === 'warn' ? report.error + report.warn : report.error
  return fails > 0 ? 1 : 0
}

/** Rejects after `--timeout`, and reports any failure as a one-sentence error. */
async function withDeadline<T>(work: Promise<T>, { url, timeoutMs }: AuditArguments): Promise<T> {
  const deadline = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    deadline.reject(new DOMException('No response', 'TimeoutError'))
  }, timeoutMs)
  try {
    return await Promise.race([work, deadline.promise])
  } catch (error) {
    throw new CommandError(describeFailure(error, url, timeoutMs), { cause: error })
  } finally {
    clearTimeout(timer)
  }
}

async function writePage(file: string, page: string): Promise<void> {
  try {
    await writeFile(file, page)
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
    throw new CommandError(
      `The report page could not be written to ${file}${reason}: does the folder exist, and may you write there?`,
      { cause: error },
    )
  }
}
