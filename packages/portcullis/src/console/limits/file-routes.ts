import type { FastifyInstance } from 'fastify'
import { ConsoleError } from '../errors.ts'
import { unitByName } from './change-limit.ts'
import { type DraftReview, reviewDraft } from './draft-review.ts'
import { type PolicyTestRun, runDraftTests, type TestFileReport } from './policy-tests.ts'
import { readDirectory } from './rule-book.ts'
import {
  changeAndAwaitLoad,
  checkText,
  deleteRuleFile,
  type ListedFile,
  type LoadReport,
  listRuleFiles,
  type OpenedFile,
  parseRuleFileName,
  readRuleFile,
  type TextFinding,
  writeRuleFile,
} from './rule-files.ts'
import { type LimitChange, saveLimit } from './save-limit.ts'
import type { DebugTarget } from './statistics.ts'

export type {
  DraftReview,
  LimitChange,
  ListedFile,
  LoadReport,
  OpenedFile,
  PolicyTestRun,
  TestFileReport,
  TextFinding,
}

/** A file after it was opened or saved. */
export interface CheckedFile extends OpenedFile {
  readonly findings: readonly TextFinding[]
}

export interface SavedFile extends CheckedFile {
  readonly load: LoadReport
}

const mostCharacters = 1024 * 1024
const text = { type: 'string', maxLength: mostCharacters }
const checkBody = { type: 'object', required: ['text'], properties: { text } }
const saveBody = {
  type: 'object',
  required: ['text', 'version'],
  properties: { text, version: { type: ['string', 'null'] } },
}
const limitBody = {
  type: 'object',
  required: ['rule', 'requestsPerUnit', 'unit', 'isDryRun'],
  properties: {
    rule: { type: 'string' },
    requestsPerUnit: { type: 'integer', minimum: 0, maximum: 0xffff_ffff },
    unit: { type: 'string' },
    isDryRun: { type: 'boolean' },
  },
}
const deleteQuery = {
  type: 'object',
  required: ['version'],
  properties: { version: { type: 'string' } },
}

/** Changes the limit of a rule, or only shows the effect. */
export interface LimitRequest {
  readonly rule: string
  readonly requestsPerUnit: number
  readonly unit: string
  readonly isDryRun: boolean
}

interface FileParams {
  Params: { name: string }
}

/** Lists, opens, checks, tests, saves and deletes rule files and policy tests. */
export function addFileRoutes(
  server: FastifyInstance,
  directory: string,
  service: DebugTarget,
): void {
  const { debugUrl } = service
  const oneAtATime = createQueue()

  server.get('/api/limits/files', async (): Promise<ListedFile[]> => listRuleFiles(directory))

  server.get<FileParams>('/api/limits/files/:name', async ({ params }): Promise<CheckedFile> => {
    const file = await readRuleFile(directory, params.name)
    return { ...file, findings: checkText(await readDirectory(directory), file.name, file.text) }
  })

  server.post<FileParams & { Body: { text: string } }>(
    '/api/limits/files/:name/check',
    { schema: { body: checkBody } },
    async ({ params, body }): Promise<TextFinding[]> =>
      checkText(await readDirectory(directory), parseRuleFileName(params.name), body.text),
  )

  server.post<FileParams & { Body: { text: string } }>(
    '/api/limits/files/:name/review',
    { schema: { body: checkBody } },
    async ({ params, body }): Promise<DraftReview> =>
      reviewDraft({ directory, service }, { name: parseRuleFileName(params.name), ...body }),
  )

  server.post<FileParams & { Body: { text: string } }>(
    '/api/limits/files/:name/tests',
    { schema: { body: checkBody } },
    async ({ params, body }): Promise<PolicyTestRun> =>
      runDraftTests(directory, { name: parseRuleFileName(params.name), text: body.text }),
  )

  server.put<FileParams & { Body: { text: string; version: string | null } }>(
    '/api/limits/files/:name',
    { schema: { body: saveBody } },
    async ({ params, body }, reply) => {
      const name = parseRuleFileName(params.name)
      return oneAtATime(async () => {
        const findings = checkText(await readDirectory(directory), name, body.text)
        const fault = findings.find(({ isBlocking }) => isBlocking)
        if (fault !== undefined) {
          const error = { code: 'rule_faults', message: toRefusal(fault) }
          return reply.code(422).send({ error, findings })
        }
        const { result, load } = await changeAndAwaitLoad(debugUrl, name, () =>
          writeRuleFile(directory, { name, ...body }),
        )
        return { ...result, findings, load } satisfies SavedFile
      })
    },
  )

  server.post<{ Body: LimitRequest }>(
    '/api/limits/limit',
    { schema: { body: limitBody } },
    async ({ body }): Promise<LimitChange> => {
      const { rule, requestsPerUnit, isDryRun } = body
      const unit = unitByName(body.unit)
      if (unit === undefined) throw new ConsoleError(400, 'bad_unit', 'The unit does not exist.')
      const change = { rule, limit: { requestsPerUnit, unit }, isDryRun }
      return oneAtATime(() => saveLimit({ directory, service }, change))
    },
  )

  server.delete<FileParams & { Querystring: { version: string } }>(
    '/api/limits/files/:name',
    { schema: { querystring: deleteQuery } },
    async ({ params, query }): Promise<LoadReport> =>
      oneAtATime(async () => {
        const { load } = await changeAndAwaitLoad(debugUrl, params.name, () =>
          deleteRuleFile(directory, params.name, query.version),
        )
        return load
      }),
  )
}

function toRefusal({ file, line, column, message, hint }: TextFinding): string {
  const place = line === undefined ? '' : `${file}, line ${line}, column ${column}: `
  return `Not saved. ${place}${message}${hint === undefined ? '' : ` (${hint})`}.`
}

/** Runs saves one after the other, so that each can observe its own reload of the rules. */
function createQueue(): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const result = last.then(work)
    last = result.catch(() => {})
    return result
  }
}
