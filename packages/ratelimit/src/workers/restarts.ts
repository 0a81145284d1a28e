export { Restarts } from '@portcullis/service-kit/restarts'
