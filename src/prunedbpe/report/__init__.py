"""Reports: tables, figures and pages a person reads."""
