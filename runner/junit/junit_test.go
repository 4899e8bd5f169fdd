package junit_test

import (
	"os"

	"github.com/seed61713e19/capstan/runner/junit"
)

func ExampleSuite_Write() {
	s := junit.Suite{Name: "capstan", Cases: []junit.Case{
		{Name: "owls", Class: "tests", Seconds: 0.25},
		{Name: "herons", Class: "tests", Failure: &junit.Why{Message: "said <no>", Text: "a & b"}},
		{Name: "gulls", Class: "tests", Error: &junit.Why{Message: "could not say"}},
	}}
	s.Write(os.Stdout)
	// Output:
	// <?xml version="1.0" encoding="UTF-8"?>
	// <testsuite name="capstan" tests="3" failures="1" errors="1" time="0.250">
	//   <testcase name="owls" classname="tests" time="0.250"></testcase>
	//   <testcase name="herons" classname="tests">
	//     <failure message="said &lt;no&gt;">a &amp; b</failure>
	//   </testcase>
	//   <testcase name="gulls" classname="tests">
	//     <error message="could not say"></error>
	//   </testcase>
	// </testsuite>
}
