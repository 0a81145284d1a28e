import { ApolloServer } from '@apollo/server'
import { startStandaloneServer } from '@apollo/server/standalone'
import { schema } from '../schema.ts'

export async function listen() {
  const server = new ApolloServer({ schema })
  const { url } = await startStandaloneServer(server, { listen: { port: 0, host: '127.0.0.1' } })
  return Number(new URL(url).port)
}
