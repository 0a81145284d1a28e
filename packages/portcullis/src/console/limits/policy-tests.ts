import {
  checkRules,
  isPolicyTest,
  type PolicyTestReport,
  type RuleFinding,
  runPolicyTests,
} from '@portcullis/ratelimit/rules'
import { readDirectory } from './rule-book.ts'
import { listRuleFiles, readRuleFile, withText } from './rule-files.ts'

/** More requests would block the console for seconds. */
const mostRequests = 200_000

/** The result of one file of policy tests. */
export interface TestFileReport extends PolicyTestReport {
  readonly name: string
}

export interface PolicyTestRun {
  /** An error in the rules, because of which no test was run. */
  readonly fault: RuleFinding | undefined
  /** Empty if the folder contains no policy tests. */
  readonly files: readonly TestFileReport[]
}

/**
 * Runs policy tests with a draft: the tests of the draft if it is a test file, otherwise all tests of the folder against
 * the rules with the draft.
 */
export async function runDraftTests(
  directory: string,
  draft: { readonly name: string; readonly text: string },
): Promise<PolicyTestRun> {
  const isTest = isPolicyTest(draft.name)
  const content = await readDirectory(directory)
  const { rules, findings } = checkRules(
    isTest ? content : withText(content, draft.name, draft.text),
  )
  const fault = findings.find(({ severity }) => severity === 'fault')
  if (fault !== undefined) return { fault, files: [] }
  const files = isTest ? [draft] : await readTestFiles(directory)
  const reports: TestFileReport[] = []
  for (const file of files) {
    reports.push({ name: file.name, ...(await runPolicyTests(rules, file, { mostRequests })) })
  }
  return { fault: undefined, files: reports }
}

async function readTestFiles(directory: string) {
  const names = (await listRuleFiles(directory)).map(({ name }) => name).filter(isPolicyTest)
  return Promise.all(names.map((name) => readRuleFile(directory, name)))
}
