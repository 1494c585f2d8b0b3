/** The operator's pages, one chunk for all of them. */
export { AccountsPage } from "./accounts-page.tsx";
export { AllProjectsPage } from "./all-projects-page.tsx";
export { HealthPage } from "./health-page.tsx";
export { LimitsPage } from "./limits-page.tsx";
