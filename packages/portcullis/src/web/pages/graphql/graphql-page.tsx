import type { JSX } from 'preact'
import { Card } from '../../components/card.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { Empty, Failure, Loading } from '../../components/states.tsx'
import { useSession } from '../../session.ts'
import { AuditForm } from './audit-form.tsx'
import { AuditRunPanel } from './audit-run-panel.tsx'
import { type AuditRunControl, useAuditRun } from './use-audit-run.ts'

export function Page(): JSX.Element {
  const { parts } = useSession()
  const control = useAuditRun()
  return (
    <>
      <PageHeader
        title="GraphQL"
        summary="Test any server for compliance with the GraphQL over HTTP specification."
      />
      <div class="stack">
        <AuditForm
          ownUrl={parts.graphql?.url}
          uncountedUrl={control.uncountedUrl}
          isRunning={control.run?.state === 'running'}
          onStart={control.start}
          onStop={control.stop}
        />
        <Result control={control} />
      </div>
    </>
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
