import type { JSX } from 'preact'
import { useLocation } from 'preact-iso'
import { Card } from '../../components/card.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { Empty, Failure, Loading } from '../../components/states.tsx'
import { useSession } from '../../session.ts'
import { AuditForm } from './audit-form.tsx'
import { AuditRunPanel } from './audit-run-panel.tsx'
import { QueryView } from './query/query-view.tsx'
import { type AuditRunControl, useAuditRun } from './use-audit-run.ts'

export function Page(): JSX.Element {
  const { graphql } = useSession().parts
  const { query } = useLocation()
  const isQuery = graphql !== undefined && query['view'] === 'query'
  return (
    <>
      <PageHeader title="GraphQL" summary={isQuery ? querySummary : auditSummary}>
        {graphql !== undefined && (
          <ul class="views" aria-label="Views">
            <li>
              <a href="/graphql-audits" aria-current={isQuery ? undefined : 'true'}>
                Audits
              </a>
            </li>
            <li>
              <a href="/graphql-audits?view=query" aria-current={isQuery ? 'true' : undefined}>
                Query
              </a>
            </li>
          </ul>
        )}
      </PageHeader>
      {isQuery ? <QueryView url={graphql.url} /> : <Audits ownUrl={graphql?.url} />}
    </>
  )
}

const auditSummary = 'Test any server for compliance with the GraphQL over HTTP specification.'
const querySummary = 'Send queries to the API, anonymously or as one of its users.'

function Audits({ ownUrl }: { readonly ownUrl: string | undefined }): JSX.Element {
  const control = useAuditRun()
  return (
    <div class="stack">
      <AuditForm
        ownUrl={ownUrl}
        uncountedUrl={control.uncountedUrl}
        isLoading={control.isLoading}
        isRunning={control.run?.state === 'running'}
        onStart={control.start}
        onStop={control.stop}
      />
      <Result control={control} />
    </div>
  )
}

function Result({ control }: { readonly control: AuditRunControl }): JSX.Element {
  const { run, earlier, isLoading, loadError, reload, show } = control
  if (run) return <AuditRunPanel run={run} earlier={earlier} onShow={show} />
  if (loadError !== undefined) return <Failure error={loadError} onRetry={reload} />
  if (isLoading) return <Loading />
  return (
    <Card>
      <Empty icon="graphql" title="No audits yet">
        Run the audits to get a report. Each audit sends one request and checks the status, headers
        and body of the response. A run takes a few seconds and changes nothing on the server.
      </Empty>
    </Card>
  )
}
