import type { JSX } from 'preact'
import { PageHeader } from '../../components/page-header.tsx'
import { Empty } from '../../components/states.tsx'

export function OverviewPage(): JSX.Element {
  return (
    <>
      <PageHeader title="Overview" summary="Not built yet." />
      <Empty icon="overview" title="Nothing here yet" />
    </>
  )
}
