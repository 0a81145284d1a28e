import type { ComponentChildren, JSX } from 'preact'
import type { PolicyTestRun, TestFileReport } from '../../../../console/routes/limits.ts'
import { Icon } from '../../../components/icons.tsx'
import { Notice } from '../../../components/states.tsx'
import { formatCountOf } from '../../../format.ts'
import { toEditorHref } from '../place.ts'

/** The results of policy tests, one file after the other. */
export function TestResults({ run }: { readonly run: PolicyTestRun }): JSX.Element {
  const { fault, files } = run
  if (fault !== undefined) {
    return (
      <Section>
        <Notice tone="danger" title="No test was run.">
          {`The rules contain an error: ${fault.file}, line ${fault.line ?? 1}: ${fault.message}`}
        </Notice>
      </Section>
    )
  }
  if (files.length === 0) {
    return (
      <Section>
        <Notice>
          The folder contains no policy tests. Create a file whose name ends in .test.yaml, for
          example api.test.yaml.
        </Notice>
      </Section>
    )
  }
  const results = files.flatMap((file) => file.results)
  const failed = results.filter(({ failure }) => failure !== undefined).length
  const broken = files.filter(({ findings }) => findings.length > 0).length
  return (
    <Section>
      <Notice tone={failed + broken === 0 ? 'ok' : 'danger'}>
        {toSummary(results.length, failed, broken)}
      </Notice>
      {files.map((file) => (
        <FileResults key={file.name} file={file} />
      ))}
    </Section>
  )
}

function Section({ children }: { readonly children: ComponentChildren }): JSX.Element {
  return (
    <section class="limits-tests" aria-label="Test results">
      {children}
    </section>
  )
}

function toSummary(total: number, failed: number, broken: number): string {
  const tests = formatCountOf(total, 'test')
  const errors = broken === 0 ? '' : ` ${formatCountOf(broken, 'file')} could not be run.`
  return failed === 0 ? `${tests} passed.${errors}` : `${failed} of ${tests} failed.${errors}`
}

function FileResults({ file }: { readonly file: TestFileReport }): JSX.Element {
  const { name, findings, results } = file
  return (
    <ul>
      {findings.map(({ line, message }) => (
        <li key={`${line}:${message}`} class="limits-test tone-danger">
          <Icon name="alert" />
          <div>
            <a href={toEditorHref(name, line)}>{`${name}:${line ?? 1}`}</a> {message}
          </div>
        </li>
      ))}
      {results.map(({ name: test, line, requests, failure }) => (
        <li key={test} class={`limits-test ${failure === undefined ? 'tone-ok' : 'tone-danger'}`}>
          <Icon name={failure === undefined ? 'check' : 'close'} />
          <div>
            <span class="hidden">{failure === undefined ? 'Passed: ' : 'Failed: '}</span>
            <a href={toEditorHref(name, failure?.mismatches[0]?.line ?? line)}>{test}</a>{' '}
            <span class="muted small">{formatCountOf(requests, 'request')}</span>
            {failure !== undefined && (
              <>
                {failure.mismatches.map(({ line: at, message }) => (
                  <p key={`${at}:${message}`}>{`Line ${at}: ${message}`}</p>
                ))}
                <pre class="code-block">{failure.details.join('\n')}</pre>
              </>
            )}
          </div>
        </li>
      ))}
    </ul>
  )
}
