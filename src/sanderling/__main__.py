from sanderling.cli import main
main()
