import type { JSX } from 'preact'
import { PageHeader } from '../../components/page-header.tsx'
import { Empty } from '../../components/states.tsx'

export function GraphqlPage(): JSX.Element {
  return (
    <>
      <PageHeader title="Graphql" summary="Not built yet." />
      <Empty icon="graphql" title="Nothing here yet" />
    </>
  )
}
